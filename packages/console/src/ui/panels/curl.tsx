import { CopyButton } from "../values/copy-button";

interface CurlProps {
  method: string;
  path: string;
  body?: unknown;
  idempotencyKey?: string;
}

/** The same request for a shell. The token is not in it. */
export function Curl(props: CurlProps) {
  const command = curlOf(props);
  return (
    <details className="card">
      <summary>curl</summary>
      <div className="stack">
        <CopyButton text={command} label="Copy the command" />
        <pre>{command}</pre>
      </div>
    </details>
  );
}

export function curlOf({ method, path, body, idempotencyKey }: CurlProps, origin = location.origin): string {
  const lines = [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${quote(origin + path)}`,
    `-H "Authorization: Bearer $TOKEN"`,
    ...(idempotencyKey === undefined ? [] : [`-H ${quote(`Idempotency-Key: ${idempotencyKey}`)}`]),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `--data-raw ${quote(JSON.stringify(body))}`]),
  ];
  return lines.join(" \\\n  ");
}

/** One word of a POSIX shell, whatever is in it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
