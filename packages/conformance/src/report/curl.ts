import type { ShownExchange } from "./redact.js";

const variables =
  /(\$(?:TOKEN|SECOND_TOKEN|REVOKED_TOKEN|ALTERED_TOKEN|EXPIRED_TOKEN|LIMITED_TOKEN|OTHER_TOKEN|BASIC|CLIENT_SECRET|WEBHOOK_SECRET))/;

/** A command that repeats a request. Secrets are variables, which a shell fills in. */
export function curlOf({ method, url, request_headers, request_body }: ShownExchange): string {
  const parts = ["curl", "-sS", "-i", "-X", method, quote(url)];
  // A header without a value needs a semicolon, or curl leaves it out.
  for (const [name, value] of request_headers)
    parts.push("-H", quote(value.trim() === "" ? `${name};` : `${name}: ${value}`));
  if (request_body !== undefined) parts.push("--data-binary", quote(request_body));
  return parts.join(" ");
}

/** Single quotes around everything, except that variables are in double quotes. */
export function quote(text: string): string {
  return (
    text
      .split(variables)
      .filter((part) => part !== "")
      .map((part) => (variables.test(part) ? `"${part}"` : `'${part.replaceAll("'", `'\\''`)}'`))
      .join("") || "''"
  );
}
