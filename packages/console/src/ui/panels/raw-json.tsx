import { CopyButton } from "../values/copy-button";

/** Laid out for reading. Escapes keep every character that is not visible from acting. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    /[^\n\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** An object as the service sent it. */
export function RawJson({ value, isOpen = false }: { value: unknown; isOpen?: boolean }) {
  const text = jsonText(value);
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
