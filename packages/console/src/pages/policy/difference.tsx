import { diffLines, withContext } from "./diff-lines";
import { canonical, writeDocument } from "./document";

const marks = { same: " ", added: "+", removed: "-" } as const;

/** What differs between two documents. The order of members says nothing: the service does not keep it. The sign says it, the colour repeats it. */
export function Difference({ before, after, label }: { before: unknown; after: unknown; label: string }) {
  const lines = diffLines(writeDocument(canonical(before)), writeDocument(canonical(after)));
  if (lines.every(({ kind }) => kind === "same")) return <p className="quiet">No difference.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
    <section className="scroller diff mono" aria-label={label} tabIndex={0}>
      {withContext(lines).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a difference have no other identity
        <div key={index} data-kind={line?.kind ?? "gap"}>
          {line === null ? "…" : `${marks[line.kind]} ${escaped(line.text)}`}
        </div>
      ))}
    </section>
  );
}

/** Escapes keep every character that is not visible from acting. */
function escaped(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
