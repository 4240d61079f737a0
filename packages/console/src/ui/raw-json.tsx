import { CopyButton } from "./copy-button";

/** An object as the service sent it. Escapes keep every character that is not visible from acting. */
export function RawJson({ value, isOpen = false }: { value: unknown; isOpen?: boolean }) {
  const text = JSON.stringify(value, null, 2).replace(
    /[^\n\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return (
    <details className="card" open={isOpen}>
      <summary>JSON</summary>
      <div className="stack">
        <CopyButton text={text} label="Copy the JSON" />
        <pre>{text}</pre>
      </div>
    </details>
  );
}
