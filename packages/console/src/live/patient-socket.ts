/** Units are tested in Node 20, which has none. */
const Platform = globalThis.WebSocket ?? (class {} as unknown as typeof WebSocket);

/** A browser opens one socket to a host at a time: one that does not open must not keep the next one from it. */
const openMaxMs = 5000;

/** Browsers warn of a socket that is closed before it is open, such as that of a page which is left at once: this one is opened first. */
export class PatientSocket extends Platform {
  override close(code?: number, reason?: string): void {
    const end = () => super.close(code, reason);
    if (this.readyState === WebSocket.CONNECTING) {
      this.addEventListener("open", end, { once: true });
      setTimeout(end, openMaxMs);
    } else end();
  }
}
