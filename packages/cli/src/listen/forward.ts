/** The answer of a receiver. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

const timeoutMs = 15_000;
const answerBytesMax = 1_048_576;
/** Headers that belong to the connection. */
const hopByHop = ["host", "connection", "content-length", "transfer-encoding", "keep-alive", "expect"];
/** The headers of an answer that the sender evaluates. */
const passedBack = ["content-type", "retry-after"];

/** Posts a delivery to another receiver; 502 if it does not answer. */
export async function forward(
  url: string,
  headers: Readonly<Record<string, string | undefined>>,
  body: string,
): Promise<Answer & { latencyMs: number }> {
  const startedAt = performance.now();
  const latency = () => performance.now() - startedAt;
  const passedOn = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || hopByHop.includes(name) ? [] : [[name, value]],
  );
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: passedOn,
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answered = passedBack.flatMap((name): [string, string][] => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    const answer = Buffer.from(await response.arrayBuffer()).subarray(0, answerBytesMax);
    return {
      status: response.status,
      headers: Object.fromEntries(answered),
      body: answer,
      latencyMs: latency(),
    };
  } catch (error) {
    const reason = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).name;
    return { status: 502, headers: {}, body: Buffer.from(`no answer (${reason})`), latencyMs: latency() };
  }
}
