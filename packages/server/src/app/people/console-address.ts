/** Where the console is, as browsers see it. */
export interface ConsoleAddress {
  /** Without a slash at its end. */
  url: string;
  /** The name that passkeys belong to. A passkey of one name is worth nothing under another. */
  rpId: string;
  /** The origins whose pages may use sessions and passkeys. */
  origins: readonly string[];
}

const loopbackNames = ["localhost", "127.0.0.1"];

/** Passkeys refuse IP addresses, so the console of a service on loopback is at `localhost`; both names are its own origins. */
export function consoleAddressOf(publicUrl: string): ConsoleAddress {
  const { protocol, hostname, port, origin } = new URL(publicUrl);
  if (!loopbackNames.includes(hostname)) return { url: publicUrl, rpId: hostname, origins: [origin] };
  const originOf = (name: string) => `${protocol}//${name}${port === "" ? "" : `:${port}`}`;
  return { url: originOf("localhost"), rpId: "localhost", origins: loopbackNames.map(originOf) };
}

/** The token is in a fragment, which is not sent to servers and is therefore in no log. */
export function invitationUrl(publicUrl: string, token: string): string {
  return `${consoleAddressOf(publicUrl).url}/console#invitation=${token}`;
}
