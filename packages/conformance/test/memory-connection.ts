import { Duplex } from "node:stream";

/**
 * One end of a connection within the process. A connection of TCP for every request was 40 % of the CPU time of the faults; Node's client and
 * server of HTTP see no difference. What is sent over a network is tested with the command line, and with the other server.
 */
class End extends Duplex {
  #other: End | undefined;
  #resume: (() => void) | undefined;

  static pair(): [End, End] {
    const [one, other] = [new End(), new End()];
    one.#other = other;
    other.#other = one;
    return [one, other];
  }

  override _read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const other = this.#other;
    if (other === undefined || other.destroyed || other.push(chunk)) done();
    else other.#resume = done;
  }

  override _final(done: () => void): void {
    if (this.#other?.destroyed === false) this.#other.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    done(error);
    // What was written before arrives first.
    setImmediate(() => this.#other?.destroy());
  }

  /** Node's client ends a connection once more when the other end has, for which a stream makes an error that nobody sees. */
  override end(...given: unknown[]): this {
    return this.writableFinished ? this : super.end(...(given as []));
  }

  // Node's HTTP calls these of a socket.
  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
}

/** Makes a connection to a server in this process; `accept` is given the server's end. */
export function connectInMemory(accept: (connection: Duplex) => void): Duplex {
  const [client, server] = End.pair();
  accept(server);
  return client;
}
