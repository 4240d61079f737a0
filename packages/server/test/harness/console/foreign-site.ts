import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ForeignSite {
  /** Another site: cookies of the console are not sent from here. */
  otherSite: string;
  /** Another port of the console's own name: the same site, and another origin. */
  sameSite: string;
  stop: () => void;
}

/** Somebody else's empty page, under two names. */
export async function startForeignSite(): Promise<ForeignSite> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end("<!doctype html><title>Elsewhere</title><p>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    otherSite: `http://127.0.0.1:${port}`,
    sameSite: `http://localhost:${port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
