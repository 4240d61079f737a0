import { ForeignLines, ForeignText } from "../../ui/values/foreign-text";

/** What a receiver has answered, or why there is no answer. */
export function Answer({ error, answer }: { error: string | null; answer: string | null }) {
  return (
    <>
      {error !== null && (
        <p className="fault">
          <ForeignText text={error} />
        </p>
      )}
      {answer !== null && answer !== "" && (
        <pre>
          <ForeignLines text={answer} />
        </pre>
      )}
    </>
  );
}
