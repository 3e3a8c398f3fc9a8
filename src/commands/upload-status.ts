import { upload_late_ms } from "../config/upload-section.ts";
import type { UploadState } from "../store/upload-store.ts";
import { spanText } from "./spans.ts";

/** The state of uploads, as text for people. */
export interface UploadStatus {
  /** When the last one ended well, and how many readings central has not confirmed. */
  readonly text: string;
  /** Error of the last failed upload, where none has succeeded since. */
  readonly failure?: string;
  /** No upload has succeeded for so long that a person should check. */
  readonly late: boolean;
}

/** @param last_seq number of the newest reading here */
export function uploadStatus(state: UploadState, last_seq: number, now_ms: number): UploadStatus {
  const { uploaded_ms, failed_ms, failure = "", confirmed_seq = 0 } = state;
  const backlog = Math.max(0, last_seq - confirmed_seq);
  const waiting = backlog === 0 ? "central holds every reading" : `${backlog} readings wait for the next`;
  const last =
    uploaded_ms === undefined ? "none has ended well yet" : `last ${spanText(now_ms - uploaded_ms)} ago`;
  const failed =
    failure === "" || failed_ms === undefined
      ? {}
      : { failure: `${spanText(now_ms - failed_ms)} ago: ${failure}` };
  return {
    text: `${last}, ${waiting}`,
    ...failed,
    late: uploaded_ms === undefined || now_ms - uploaded_ms > upload_late_ms,
  };
}
