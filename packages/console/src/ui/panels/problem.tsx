import { type BursarError, isBursarError } from "@bursar/client";
import { CopyButton } from "../values/copy-button";
import { ForeignText } from "../values/foreign-text";
import { adviceOf } from "./advice";

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
      {known !== undefined && <Advice code={known.code} />}
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
        {known?.status !== undefined && (
          <a
            href={`/docs/reference/errors#${encodeURIComponent(known.code)}`}
            target="_blank"
            rel="noreferrer"
          >
            What the code means
          </a>
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

function Advice({ code }: { code: string }) {
  const parts = adviceOf(code)?.split("`") ?? [];
  if (parts.length === 0) return null;
  return <p>{parts.map((part, index) => (index % 2 === 0 ? part : <code key={part}>{part}</code>))}</p>;
}
