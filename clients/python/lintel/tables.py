# Made by `bun scripts/generate-clients.ts` from src/domain/series.ts and src/domain: change those, then run it.
"""What the interface serves: series, the types of readings and records, reasons and remedies."""

from __future__ import annotations

from datetime import datetime
from typing import List, Literal, Mapping, Optional, TypedDict

from .series import Series

__all__ = ["pillbox_status", "PillboxStatusReading", "pillbox_events", "PillboxEventsReading", "wirelesssensor_events", "WirelesssensorEventsReading", "wirelesssensor_measures", "WirelesssensorMeasuresReading", "scale_weights", "ScaleWeightsReading", "scale_heart", "ScaleHeartReading", "watch_epochs", "WatchEpochsReading", "Device", "Item", "ItemType", "Kind", "OwnedRecordName", "RecordName", "coverage_reasons"]

#: A type of item, as paths name it.
Kind = Literal["pillboxes", "wirelesssensors", "scales", "watches", "gateways"]

#: A list of records, and one that stands below a subject or a home.
RecordName = Literal["homes", "subjects", "projects", "studies", "issues", "consents"]
OwnedRecordName = Literal["project_enrollments", "study_enrollments", "scheduled_contacts", "phones", "subject_inventory", "contacts", "comments", "alerts", "home_inventory", "notes"]


class PillboxStatusReading(TypedDict):
    """A reading of pillbox_status."""

    #: when the status was polled
    stamp: datetime
    #: time reported by the device
    devicestamp: datetime
    #: device voltage (mV)
    voltage: int
    #: what powers the device
    powersource: Literal["external_power", "battery"]
    #: total door states recorded by the device (door states)
    eventcount: int
    #: seconds spent on battery power (s)
    batteryseconds: str
    #: firmware version
    firmwarerevsion: str
    #: MAC address reported by the device
    macaddress: str
    #: start of the next radio broadcast
    nextpanicstart: datetime
    #: end of the next radio broadcast
    nextpanicstop: datetime


pillbox_status: Series[PillboxStatusReading] = Series(
    "pillbox_status",
    "pillboxes",
    "status",
    "Pill-box status",
    {
        "devicestamp": "time reported by the device",
        "voltage": "device voltage (mV)",
        "powersource": "what powers the device",
        "eventcount": "total door states recorded by the device (door states)",
        "batteryseconds": "seconds spent on battery power (s)",
        "firmwarerevsion": "firmware version",
        "macaddress": "MAC address reported by the device",
        "nextpanicstart": "start of the next radio broadcast",
        "nextpanicstop": "end of the next radio broadcast",
    },
    frozenset({"devicestamp", "nextpanicstart", "nextpanicstop"}),
)


class PillboxEventsReading(TypedDict):
    """A reading of pillbox_events."""

    #: when the event occurred
    stamp: datetime
    #: open doors: bit p is door p, 0 Sunday to 6 Saturday (bitmask)
    event: int


pillbox_events: Series[PillboxEventsReading] = Series(
    "pillbox_events",
    "pillboxes",
    "events",
    "Pill-box events",
    {
        "event": "open doors: bit p is door p, 0 Sunday to 6 Saturday (bitmask)",
    },
    frozenset(),
)


class WirelesssensorEventsReading(TypedDict):
    """A reading of wirelesssensor_events."""

    #: when the event occurred
    stamp: datetime
    #: IAS zone status as received: bit 0 alarm 1 (proximity), bit 1 alarm 2 (presence) (bitmask)
    event: int


wirelesssensor_events: Series[WirelesssensorEventsReading] = Series(
    "wirelesssensor_events",
    "wirelesssensors",
    "events",
    "Wireless sensor events",
    {
        "event": "IAS zone status as received: bit 0 alarm 1 (proximity), bit 1 alarm 2 (presence) (bitmask)",
    },
    frozenset(),
)


class WirelesssensorMeasuresReading(TypedDict):
    """A reading of wirelesssensor_measures."""

    #: when the sensor told it
    stamp: datetime
    #: what was measured: the list of quantities has the names that are known
    quantity: str
    #: the number, in the unit beside it
    value: float
    #: unit of the value, such as °C, %, lx, hPa or W; empty where it has none
    unit: str


wirelesssensor_measures: Series[WirelesssensorMeasuresReading] = Series(
    "wirelesssensor_measures",
    "wirelesssensors",
    "measures",
    "Wireless sensor measures",
    {
        "quantity": "what was measured: the list of quantities has the names that are known",
        "value": "the number, in the unit beside it",
        "unit": "unit of the value, such as °C, %, lx, hPa or W; empty where it has none",
    },
    frozenset(),
)


class ScaleWeightsReading(TypedDict):
    """A reading of scale_weights."""

    #: start of the measurement period
    stamp: datetime
    #: total weight (g)
    weight: int
    #: fat weight (g)
    fatMass: Optional[int]
    #: water weight (g)
    waterMass: Optional[int]
    #: bone weight (g)
    boneMass: Optional[int]
    #: muscle weight (g)
    muscleMass: Optional[int]
    #: battery level (%)
    batteryLevel: Optional[int]


scale_weights: Series[ScaleWeightsReading] = Series(
    "scale_weights",
    "scales",
    "weights",
    "Scale weights",
    {
        "weight": "total weight (g)",
        "fatMass": "fat weight (g)",
        "waterMass": "water weight (g)",
        "boneMass": "bone weight (g)",
        "muscleMass": "muscle weight (g)",
        "batteryLevel": "battery level (%)",
    },
    frozenset(),
)


class ScaleHeartReading(TypedDict):
    """A reading of scale_heart."""

    #: start of the measurement period
    stamp: datetime
    #: heart rate measured through the foot (1/min)
    heartRate: int


scale_heart: Series[ScaleHeartReading] = Series(
    "scale_heart",
    "scales",
    "heart",
    "Scale heart rates",
    {
        "heartRate": "heart rate measured through the foot (1/min)",
    },
    frozenset(),
)


class WatchEpochsReading(TypedDict):
    """A reading of watch_epochs."""

    #: start of the epoch
    stamp: datetime
    #: epoch length (s)
    duration: int
    #: distance travelled (m)
    distance: float
    #: steps in the epoch (steps)
    steps: int
    #: 1 not walking, 2 walking
    walkState: int
    #: 1 not running, 2 running
    runState: int
    #: 1 wake, 2 light, 3 deep, 4 REM
    sleepState: int


watch_epochs: Series[WatchEpochsReading] = Series(
    "watch_epochs",
    "watches",
    "epochs",
    "Watch epochs",
    {
        "duration": "epoch length (s)",
        "distance": "distance travelled (m)",
        "steps": "steps in the epoch (steps)",
        "walkState": "1 not walking, 2 walking",
        "runState": "1 not running, 2 running",
        "sleepState": "1 wake, 2 light, 3 deep, 4 REM",
    },
    frozenset(),
)


class Item(TypedDict):
    """An item of the inventory."""

    #: unique identifier
    itemid: int
    #: unique name
    itemname: str
    #: serial number
    serialnum: Optional[str]
    #: hardware MAC address
    macaddress: Optional[str]
    #: model identifier
    modelid: Optional[int]
    #: model name
    modelname: Optional[str]
    #: 0 = not specific to a home or subject, 1 = specific
    subjectspecific: Optional[int]
    #: vendor identifier
    vendorid: Optional[int]
    #: vendor name
    vendorname: Optional[str]
    #: item type identifier
    typeid: int
    #: item type name
    typename: str
    #: item subtype identifier
    subtypeid: Optional[int]
    #: item subtype name; the string "null" when absent
    subtypename: str
    #: identifier of the home where the item is installed
    currenthomeid: Optional[int]
    #: when it was installed in that home
    currenthomestart: Optional[datetime]
    #: whether the item is active in a home
    active: int
    #: name of the value of active
    activename: Literal["Active", "Inactive"]
    #: identifier of the current status
    statusid: Optional[int]
    #: name of the current status: Assigned, Received or Decommissioned
    statusname: Optional[str]
    #: months the battery lasts
    batterymonths: Optional[int]
    #: date of last recorded battery change; the string "null" when absent
    lastbatterychange: str
    #: 0 = no batteries, 1 = has batteries
    hasbatteries: Optional[int]


class ItemType(TypedDict):
    """An element of the list of item types."""

    #: item type identifier
    typeid: int
    #: item type name, as paths use it
    typename: str
    #: items of this type in the inventory
    count: int


class DeviceMeasure(TypedDict):
    """A quantity that a device is able to measure."""

    #: name of the quantity
    quantity: str
    #: unit that it is recorded in; empty where it has none
    unit: str


class PastDevice(TypedDict):
    """What a device was in a time, and how its readings were made."""

    #: when this was first known
    start: datetime
    #: when it was known to be otherwise; null: it is so now
    stop: Optional[datetime]
    #: model, as the device itself told it
    model: Optional[str]
    #: version of its firmware, as the device tells it
    firmware: Optional[str]
    #: date of its firmware or of its making, as the device tells it
    datecode: Optional[str]
    #: the device in a few words
    description: Optional[str]
    #: received: events (of devices that have none, readings) are what the device sent; translated: they are made of something else
    events: Optional[Literal["received", "translated"]]
    #: what events are made of, in the words of its protocol
    eventsfrom: Optional[str]
    #: quantities that it is able to measure
    measures: List[DeviceMeasure]
    #: states that one would expect of it and that it never tells
    nevertells: List[str]
    #: for how long after an event it sees nothing (s)
    blind: Optional[float]
    #: how often it is heard although nothing happens (s); null where it is silent until it is used
    cadence: Optional[float]
    #: in what it tells its battery, before that becomes per cent or millivolts
    batteryunit: Optional[str]


class Device(TypedDict):
    """The device of an item, and how its readings are made."""

    #: model, as the inventory has it or the device tells it
    model: Optional[str]
    #: who makes it
    vendor: Optional[str]
    #: the driver of the gateway that heard it last
    driver: Optional[str]
    #: version of its firmware, as the device tells it
    firmware: Optional[str]
    #: date of its firmware or of its making, as the device tells it
    datecode: Optional[str]
    #: the device in a few words
    description: Optional[str]
    #: received: events (of devices that have none, readings) are what the device sent; translated: they are made of something else
    events: Optional[Literal["received", "translated"]]
    #: what events are made of, in the words of its protocol
    eventsfrom: Optional[str]
    #: quantities that it is able to measure
    measures: List[DeviceMeasure]
    #: states that one would expect of it and that it never tells
    nevertells: List[str]
    #: for how long after an event it sees nothing (s)
    blind: Optional[float]
    #: how often it is heard although nothing happens (s); null where it is silent until it is used
    cadence: Optional[float]
    #: in what it tells its battery, before that becomes per cent or millivolts
    batteryunit: Optional[str]
    #: charge of its battery, as it was told last (%)
    battery: Optional[float]
    #: voltage of its battery, as it was told last (mV)
    batteryvoltage: Optional[float]
    #: what it was from when to when, newest first; the first is what it is now
    history: List[PastDevice]


#: Where each list of records is served: below a subject or a home where the path has `{id}`.
record_paths: Mapping[str, str] = {
    "homes": "/homes/",
    "subjects": "/subjects/",
    "project_enrollments": "/subjects/{id}/enrollment/projects/",
    "study_enrollments": "/subjects/{id}/enrollment/studies/",
    "scheduled_contacts": "/subjects/{id}/scheduled/contacts/",
    "phones": "/subjects/{id}/phone/",
    "subject_inventory": "/subjects/{id}/inventory/",
    "contacts": "/subjects/{id}/contacts/",
    "comments": "/subjects/{id}/comments/",
    "alerts": "/subjects/{id}/alerts/",
    "home_inventory": "/homes/{id}/inventory/",
    "notes": "/homes/{id}/notes/",
    "projects": "/projects/",
    "studies": "/studies/",
    "issues": "/issues/",
    "consents": "/consents/",
}

#: Fields of each record that are times.
record_times: Mapping[str, frozenset[str]] = {
    "items": frozenset({"currenthomestart"}),
    "homes": frozenset(),
    "subjects": frozenset({"dob", "dod"}),
    "project_enrollments": frozenset({"start", "stop"}),
    "study_enrollments": frozenset({"studystart", "studystop", "studystatestart", "studystatestop"}),
    "scheduled_contacts": frozenset(),
    "phones": frozenset(),
    "subject_inventory": frozenset(),
    "contacts": frozenset({"contactdate"}),
    "comments": frozenset({"stamp"}),
    "alerts": frozenset(),
    "home_inventory": frozenset({"start", "stop"}),
    "notes": frozenset({"start", "stop", "said"}),
    "projects": frozenset({"start", "stop"}),
    "studies": frozenset({"studystart", "studystop"}),
    "issues": frozenset({"opened", "closed"}),
    "consents": frozenset({"start", "stop"}),
    "device_history": frozenset({"start", "stop"}),
}

#: Why an item was not covered.
coverage_reasons: Mapping[str, str] = {
    "device_silent": "silent for more than one and a half times its heartbeat",
    "gateway_down": "the gateway was not running",
    "driver_down": "the driver did not hear its hardware",
    "recording_paused": "recording was paused",
    "consent_withdrawn": "the consent to record was withdrawn",
    "enrollment_ended": "the enrollment in the project had ended",
    "overwritten": "events were overwritten on the device before they were fetched",
    "missed_broadcasts": "the device counted events whose broadcasts were not heard",
    "missed_window": "the device did not answer while its radio was said to be on",
    "not_worn": "the device was not worn",
}

#: Remedies of errors, by code, where its message does not say it.
remedies: Mapping[int, str] = {
    0: "ask again; if it stays, whoever keeps the server finds a line in its log",
    40101: "give the token, which `lintel token create NAME` prints",
    40102: "ask the server's keeper for a new token: lintel token create NAME",
    40103: "look whether the whole token was copied, and whether it is one of this server",
    40104: "ask the server's keeper for a token that reads: lintel token create NAME",
    40401: "look at the address and its version: /v0.9",
    40402: "the list of item types has their names",
    40403: "the list of items of that type has their names; a token that is bound sees its own alone",
    40404: "the list of these records has their numbers; a token that is bound sees its own alone",
    41001: "begin again without a cursor",
}
