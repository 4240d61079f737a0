import type { ClientErrorCode } from "@bursar/client";
import { adviceOfService } from "../../generated/error-advice";

const reload = "Load the page again. If it happens again, tell your operator.";

/** What a person does about an error that arises in the browser. */
const adviceOfClient: Readonly<Record<ClientErrorCode, string>> = {
  ABORTED: "It was stopped. Try again.",
  CONNECTION_FAILED: "Check the network. Nothing that you typed is lost; try again.",
  TIMEOUT: "The service did not answer in time. Try again.",
  RESPONSE_INVALID:
    "Something between you and the service has answered in its place. Check the network, and try again.",
  STREAM_REFUSED: "Load the page again. If it happens again, your role may not follow these events any more.",
  CREDENTIALS_INVALID: reload,
  INVALID_ARGUMENT: reload,
  INVALID_CLIENT: reload,
  INVALID_SCOPE: reload,
  WEBSOCKET_MISSING: reload,
};

/** What to do about an error, by its code; undefined if a newer service has sent the code. Commands stand in backticks. */
export function adviceOf(code: string): string | undefined {
  const known: Readonly<Record<string, string>> = { ...adviceOfService, ...adviceOfClient };
  return Object.hasOwn(known, code) ? known[code] : undefined;
}
