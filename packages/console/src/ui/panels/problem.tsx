import { type BursarError, isBursarError } from "@bursar/client";
import { CopyButton } from "../values/copy-button";
import { ForeignText } from "../values/foreign-text";

/** What to do about an error, by its code; the service's sentence says what happened. */
const advice: Readonly<Record<string, string>> = {
  CONNECTION_FAILED: "Check the network. Nothing that you typed is lost; try again.",
  TIMEOUT: "The service did not answer in time. Try again.",
  FORBIDDEN: "Your role does not allow this. Ask an administrator for it.",
  RATE_LIMITED: "Wait a moment, then try again.",
  SERVICE_UNAVAILABLE: "The service is busy or starts. Try again in a moment.",
  PRECONDITION_FAILED: "Somebody else changed it meanwhile. Load it again and compare.",
  INSUFFICIENT_SCOPE: "Your role does not allow this. Ask an administrator or the operator for it.",
  INVITATION_INVALID:
    "The link was used, has expired or was replaced by a newer one. Log in if you have a passkey, or ask for a new link.",
  APPROVER_NOT_INDEPENDENT:
    "Another approver has to decide. If there is none, cancel the payment and request it again.",
  PASSKEY_REQUIRED: "Confirm with your passkey.",
  NOT_REPLACEABLE: "Nothing was sent again. If it is in no block, it can still be cancelled.",
  CHANGE_REQUEST_REQUIRED: "This needs a change request that another person approves.",
};

/** A path of the request in words: `body.rules.0.name` is `rules 1 name`, as the form counts. */
function fieldOf(path: string): string {
  return path
    .replace(/^(body|query|path|headers)\./, "")
    .split(".")
    .map((step) => (/^\d+$/.test(step) ? String(Number(step) + 1) : step.replaceAll("_", " ")))
    .join(" ");
}

/** What was asked is not right, and will not be if it is asked again. */
function isWrong(error: BursarError | undefined): boolean {
  return error?.status === 400 || error?.status === 422;
}

/** An error: the sentence, the code, the id of the request to copy, and what to do. What `retry` reads again can have had no effect. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const known = isBursarError(error) ? error : undefined;
  const isFault = known?.code === "INVALID_REQUEST" && known.details.length > 0;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div className="notice" data-tone="bad" role="alert">
      <p>{isFault ? "Something that was entered is not right." : <ForeignText text={message} />}</p>
      {known?.details.map((detail) => (
        <p key={`${detail.path}:${detail.reason}`}>
          <strong>
            <ForeignText text={fieldOf(detail.path)} />
          </strong>{" "}
          <ForeignText text={detail.reason} />
        </p>
      ))}
      {known !== undefined && advice[known.code] !== undefined && <p>{advice[known.code]}</p>}
      {known?.outcome === "unknown" && retry === undefined && (
        <p>It is not known whether this had its effect. Try again: it happens once at most.</p>
      )}
      <div className="row small">
        {known !== undefined && <code>{known.code}</code>}
        {known?.requestId !== undefined && (
          <>
            <span className="quiet">request</span> <code>{known.requestId}</code>
            <CopyButton text={known.requestId} label="Copy the request id" />
          </>
        )}
        {retry !== undefined && !isWrong(known) && (
          <button type="button" className="button" onClick={retry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}
