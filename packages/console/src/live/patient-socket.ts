/** Units are tested in Node 20, which has none. */
const Platform = globalThis.WebSocket ?? (class {} as unknown as typeof WebSocket);

/** Browsers warn of a socket that is closed before it is open, such as that of a page which is left at once: this one is opened first. */
export class PatientSocket extends Platform {
  override close(code?: number, reason?: string): void {
    if (this.readyState === WebSocket.CONNECTING)
      this.addEventListener("open", () => super.close(code, reason), { once: true });
    else super.close(code, reason);
  }
}
