import { createServer } from "node:net";

/** Linux gives those from 32768 on to outgoing connections. */
const [portMin, portMax] = [10_000, 32_767];

/** A port that nobody listens on at this moment. No outgoing connection gets it either, so what has ended can be started on it again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = portMin + Math.floor(Math.random() * (portMax - portMin + 1));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
