// Decodes blocks (block-format.md), and writes readings as JSON. AssemblyScript: `bun scripts/build-wasm.ts` builds blocks-wasm.ts of it.
// The caller has checked the bytes by their checksum, and made the memory large enough: nothing is allocated here, and nothing is checked again.

/** The last value of each group, or the list of values: 256 of eight bytes. */
const groups: usize = 0;
/** Entries of the table of codes, 4,096 of four bytes: symbol in the low half, length in the high one. */
const table: usize = 2048;
/** The digits of the numbers below 100, two each; the caller puts them there. */
const pairs: usize = 18432;
/** The digits of a stamp but for the last four: stamps that follow each other have them in common. What the caller has begins at 18,688. */
const common: usize = 18640;

let at: usize = 0; // the next byte
let bits: usize = 0; // where the bits of a column begin
let bit: u64 = 0; // the next of them
let code_bits: u32 = 0; // the longest code
let only: i32 = 0; // the one symbol of a column that has no codes

function varint(): u64 {
  let byte = <u64>load<u8>(at);
  let value = byte & 0x7f;
  for (let shift: u64 = 7; byte >= 0x80; shift += 7) {
    at += 1;
    byte = <u64>load<u8>(at);
    value |= (byte & 0x7f) << shift;
  }
  at += 1;
  return value;
}

function zigzag(): i64 {
  const value = varint();
  return <i64>(value >> 1) ^ -(<i64>(value & 1));
}

/** Reads the lengths of codes, and makes the table; `bits` is where the bits begin, and `at` behind them. */
function codes(): void {
  const least = <u32>load<u8>(at);
  const most = <u32>load<u8>(at + 1);
  at += 2;
  code_bits = 0;
  if (least == most) only = <i32>least;
  else {
    const lengths = at;
    const count = most - least + 1;
    at += (count + 1) >> 1;
    for (let symbol: u32 = 0; symbol < count; symbol++) {
      const length = lengthAt(lengths, symbol);
      if (length > code_bits) code_bits = length;
    }
    // Canonical codes, their first bit lowest: shorter ones first, and of one length in order of symbols.
    let code: u32 = 0;
    for (let length: u32 = 1; length <= code_bits; length++) {
      for (let symbol: u32 = 0; symbol < count; symbol++) {
        if (lengthAt(lengths, symbol) != length) continue;
        const entry = ((least + symbol) & 0xffff) | (length << 16);
        let place = reversed(code, length);
        for (; place < <u32>1 << code_bits; place += <u32>1 << length) store<u32>(table + ((<usize>place) << 2), entry);
        code++;
      }
      code <<= 1;
    }
  }
  const length = <usize>varint();
  bits = at;
  bit = 0;
  at += length;
}

@inline
function lengthAt(lengths: usize, symbol: u32): u32 {
  const byte = <u32>load<u8>(lengths + (symbol >> 1));
  return symbol & 1 ? byte >> 4 : byte & 15;
}

function reversed(code: u32, length: u32): u32 {
  let value: u32 = 0;
  for (let place: u32 = 0; place < length; place++) value |= ((code >> place) & 1) << (length - 1 - place);
  return value;
}

@inline
function peek(): u64 {
  return load<u64>(bits + <usize>(bit >> 3)) >> (bit & 7);
}

@inline
function symbol(): u32 {
  if (code_bits == 0) return <u32>only;
  const entry = load<u32>(table + ((<usize>peek() & ((<usize>1 << code_bits) - 1)) << 2));
  bit += entry >> 16;
  return entry & 0xffff;
}

/** A number of so many bits, of which the highest is set. */
@inline
function numberOf(length: u32): u64 {
  if (length < 2) return <u64>length;
  const low = <u64>length - 1;
  const value = (peek() & ((<u64>1 << low) - 1)) | (<u64>1 << low);
  bit += low;
  return value;
}

@inline
function signed(): i64 {
  const found = symbol();
  const value = <i64>numberOf(found >> 1);
  return found & 1 ? -value : value;
}

function powerOf(decimals: u32): f64 {
  let power: f64 = 1;
  for (let place: u32 = 0; place < decimals; place++) power *= 10;
  return power;
}

/** Whether a reading has a value; `nulls`: a bit for each, 0 where all have. */
@inline
function has(nulls: usize, index: u32): bool {
  return nulls == 0 || ((load<u8>(nulls + (index >> 3)) >> (index & 7)) & 1) == 0;
}

/**
 * Decodes `columns` columns of `count` readings, which begin at `from`, into rows of f64 from `to` on, a column after the other; null is NaN. Of texts come
 * their places in the list of the column. Of each column three u32 go to `told`: its kind, its decimals, and where its list of texts begins.
 */
export function decode(from: usize, count: u32, columns: u32, to: usize, told: usize): void {
  at = from;
  for (let column: u32 = 0; column < columns; column++) {
    const out = to + <usize>column * count * 8;
    const info = told + <usize>column * 12;
    const head = load<u8>(at);
    at += 1;
    const kind = <u32>head & 15;
    let nulls: usize = 0;
    if (head & 16) {
      nulls = at;
      at += (count + 7) >> 3;
    }
    store<u32>(info, kind);
    store<u32>(info + 4, 0);
    store<u32>(info + 8, 0);
    if (kind == 0) fill(out, count, nulls, NaN);
    else if (kind == 1) fill(out, count, nulls, <f64>zigzag());
    else if (kind == 2) {
      fill(out, count, nulls, load<f64>(at));
      at += 8;
    } else if (kind == 3) raw(out, count, nulls);
    else if (kind == 4 || kind == 5) {
      let decimals: u32 = 0;
      if (kind == 5) {
        decimals = <u32>load<u8>(at);
        at += 1;
        store<u32>(info + 4, decimals);
      }
      integers(out, count, nulls, powerOf(decimals));
    } else if (kind == 6) {
      const size = <u32>varint();
      for (let place: u32 = 0; place < size; place++) store<i64>(groups + ((<usize>place) << 3), zigzag());
      codes();
      for (let index: u32 = 0; index < count; index++)
        store<f64>(
          out + ((<usize>index) << 3),
          has(nulls, index) ? <f64>load<i64>(groups + ((<usize>symbol()) << 3)) : NaN,
        );
    } else if (kind == 7 || kind == 9) {
      const size = <u32>varint();
      store<u32>(info + 4, size);
      store<u32>(info + 8, <u32>at);
      for (let place: u32 = 0; place < size; place++) {
        const length = <usize>varint();
        at += length;
      }
      if (kind == 7) codes();
      let place: u32 = 0;
      for (let index: u32 = 0; index < count; index++) {
        let text: f64 = NaN;
        if (has(nulls, index)) text = <f64>(kind == 7 ? symbol() : place++);
        store<f64>(out + ((<usize>index) << 3), text);
      }
    } else if (kind == 10) {
      const unit = <i64>varint();
      integers(out, count, nulls, 1);
      for (let index: u32 = 0; index < count; index++) {
        const place = out + ((<usize>index) << 3);
        const stamp = <i64>load<f64>(to + ((<usize>index) << 3));
        store<f64>(place, load<f64>(place) + <f64>(stamp / unit));
      }
    } else {
      const decimals = <u32>load<u8>(at);
      const texts = to + <usize>load<u8>(at + 1) * count * 8;
      at += 2;
      store<u32>(info + 4, decimals);
      const power = powerOf(decimals);
      for (let group: usize = 0; group < 256; group++) store<i64>(groups + (group << 3), 0);
      codes();
      for (let index: u32 = 0; index < count; index++) {
        if (!has(nulls, index)) {
          store<f64>(out + ((<usize>index) << 3), NaN);
          continue;
        }
        const group = groups + ((<usize>load<f64>(texts + ((<usize>index) << 3))) << 3);
        const value = load<i64>(group) + signed();
        store<i64>(group, value);
        store<f64>(out + ((<usize>index) << 3), <f64>value / power);
      }
    }
  }
}

function fill(out: usize, count: u32, nulls: usize, value: f64): void {
  for (let index: u32 = 0; index < count; index++)
    store<f64>(out + ((<usize>index) << 3), has(nulls, index) ? value : NaN);
}

function raw(out: usize, count: u32, nulls: usize): void {
  for (let index: u32 = 0; index < count; index++) {
    const some = has(nulls, index);
    store<f64>(out + ((<usize>index) << 3), some ? load<f64>(at) : NaN);
    if (some) at += 8;
  }
}

/** Integers of `power` parts: each by what it is more than the one before, or more than the least. */
function integers(out: usize, count: u32, nulls: usize, power: f64): void {
  const mode = load<u8>(at);
  at += 1;
  const base = zigzag();
  const step = mode == 3 ? zigzag() : 0;
  codes();
  let value = base;
  let first = true;
  for (let index: u32 = 0; index < count; index++) {
    if (!has(nulls, index)) {
      store<f64>(out + ((<usize>index) << 3), NaN);
      continue;
    }
    if (mode == 0) value = base + <i64>numberOf(symbol());
    else if (first) first = false;
    else value += mode == 1 ? <i64>numberOf(symbol()) : step + signed();
    store<f64>(out + ((<usize>index) << 3), <f64>value / power);
  }
}

let out_at: usize = 0;

@inline
function put(byte: u32): void {
  store<u8>(out_at, byte);
  out_at += 1;
}

/** Copies eight bytes at once: those behind the end are written over next. */
@inline
function copy(from: usize, length: usize): void {
  for (let place: usize = 0; place < length; place += 8) store<u64>(out_at + place, load<u64>(from + place));
  out_at += length;
}

@inline
function lengthOf(value: u32): u32 {
  if (value < 10) return 1;
  if (value < 100) return 2;
  if (value < 1000) return 3;
  if (value < 10000) return 4;
  if (value < 100000) return 5;
  if (value < 1000000) return 6;
  if (value < 10000000) return 7;
  if (value < 100000000) return 8;
  return value < 1000000000 ? 9 : 10;
}

/** So many digits, with zeros before. */
function digits32(given: u32, length: u32): void {
  let value = given;
  let place = out_at + length;
  out_at = place;
  let left = length;
  for (; left >= 2; left -= 2) {
    const rest = value / 100;
    place -= 2;
    store<u16>(place, load<u16>(pairs + ((<usize>(value - rest * 100)) << 1)));
    value = rest;
  }
  if (left > 0) store<u8>(place - 1, value % 10 + 48);
}

function digits(value: u64): void {
  if (value < 4294967296) digits32(<u32>value, lengthOf(<u32>value));
  else {
    const high = value / 100000000;
    digits(high);
    digits32(<u32>(value - high * 100000000), 8);
  }
}

let common_length: usize = 0;
/** The stamp with these digits that ends in four zeros. */
let common_from: u64 = 0;

function stamp(value: f64, divisor: f64): void {
  // A division of floats takes a third of the time of one of integers, and is right but for its rounding.
  let whole = <u64>(value / divisor);
  if (<f64>whole * divisor > value) whole -= 1;
  if (whole < 10000) {
    digits(whole);
    return;
  }
  if (common_length == 0 || whole < common_from || whole - common_from >= 10000) {
    const start = out_at;
    out_at = common;
    digits(whole / 10000);
    common_length = out_at - common;
    out_at = start;
    common_from = whole - (whole % 10000);
  }
  copy(common, common_length);
  const last = <u32>(whole - common_from);
  // A hundredth of a number below 10,000.
  const first = (last * 5243) >> 19;
  store<u16>(out_at, load<u16>(pairs + ((<usize>first) << 1)));
  store<u16>(out_at + 2, load<u16>(pairs + ((<usize>(last - first * 100)) << 1)));
  out_at += 4;
}

/** A number as JSON has it, of so many decimals at most. */
function number(value: f64, decimals: u32): void {
  if (decimals == 0 && value >= 0 && value < 10) {
    put(<u32>value + 48);
    return;
  }
  let parts = decimals == 0 ? <i64>value : <i64>nearest(value * powerOf(decimals));
  if (parts < 0) {
    put(45);
    parts = -parts;
  }
  let left = decimals;
  let rest = <u64>parts;
  while (left > 0 && rest % 10 == 0) {
    rest /= 10;
    left -= 1;
  }
  if (left == 0) {
    digits(rest);
    return;
  }
  const unit = <u64>powerOf(left);
  const whole = rest / unit;
  digits(whole);
  put(46);
  digits32(<u32>(rest - whole * unit), left);
}

/**
 * Writes readings from the index `first` on, `readings` of them in steps of `step`, as JSON objects with commas between; answers how many bytes. A field has
 * five u32 at `fields`: where its name with what stands before it begins, how long that is, its column, 0 for a number, 1 for a text and 2 for the stamp, and
 * the decimals of the number, the list of pairs (where, how long) of the texts, or what to divide the stamp by.
 */
export function write(
  columns: usize,
  count: u32,
  first: i32,
  readings: u32,
  step: i32,
  fields: usize,
  field_count: u32,
  to: usize,
): u32 {
  out_at = to;
  let index = first;
  for (let reading: u32 = 0; reading < readings; reading++) {
    if (reading > 0) put(44);
    for (let field: u32 = 0; field < field_count; field++) {
      const entry = fields + <usize>field * 20;
      copy(load<u32>(entry), load<u32>(entry + 4));
      const value = load<f64>(columns + (<usize>load<u32>(entry + 8) * count + <usize>index) * 8);
      const kind = load<u32>(entry + 12);
      const more = load<u32>(entry + 16);
      if (value != value) {
        store<u32>(out_at, 0x6c6c756e);
        out_at += 4;
      } else if (kind == 2) stamp(value, <f64>more);
      else if (kind == 1) {
        const text = <usize>more + <usize>value * 8;
        copy(load<u32>(text), load<u32>(text + 4));
      } else number(value, more);
    }
    put(125);
    index += step;
  }
  return <u32>(out_at - to);
}
