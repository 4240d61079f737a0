import { type Bursar, createBursar } from "@bursar/client";
import { issueToken } from "../session/session-api";

/** The client of this page. Its tokens last five minutes, and are kept in memory alone. */
export const bursar: Bursar = createBursar({
  baseUrl: location.origin,
  credentials: issueToken,
});
