import { ignoreNoResponse } from "../engine/check.js";
import { type Attempt, type Kit, membersOf } from "../engine/kit.js";
import { isRefusal } from "../http/reply.js";
import { creationTimes } from "./every/run-transactions.js";
import { findRepeatedId } from "./scenarios.js";

/** A request whose client closed its connection before the answer, and then repeated it, as one does that has ended meanwhile. */
export interface HungUp {
  readonly reference: string;
  readonly what: string;
  /** The ids that its repetitions show; also its own, if the answer was faster. */
  readonly ids: ReadonlySet<string>;
}

/** So long a service may go on with a request whose client is gone, if it usually takes no time. */
const workMs = 50;
const pauseMaxMs = 5000;

/**
 * A service may not have received such a request, so the first repetition can be the one that is accepted; it may still be at work, and
 * refuse the repetition for that. Whatever it does, there is one transaction in the end.
 */
export const hungUp = (kit: Kit): Promise<HungUp[]> =>
  kit.fixture("requests whose client has hung up", async (own) => {
    const times = creationTimes(own).sort((one, other) => one - other);
    const usualMs = times[Math.floor(times.length / 2)] ?? 0;
    const pauseMs = Math.min(Math.ceil(2 * usualMs) + workMs, pauseMaxMs);
    const half = Math.ceil(usualMs / 2);
    const cases = [
      { hangUpMs: 0, waitMs: 0 },
      { hangUpMs: 0, waitMs: pauseMs },
      { hangUpMs: half, waitMs: 0 },
    ];
    const sent: { what: string; reference: string; answers: Attempt[]; again: () => Promise<Attempt> }[] = [];
    for (const { hangUpMs, waitMs } of cases) {
      const reference = own.newName();
      const request = { key: own.newKey(), body: JSON.stringify(membersOf(own, reference)) };
      const first = await own.create({ ...request, hangUpMs }).catch(ignoreNoResponse);
      if (waitMs > 0) await own.sleep(waitMs);
      const again = () => own.create(request);
      const answers = [...(first === undefined ? [] : [first]), await again()];
      const what = `a request whose client hung up ${hangUpMs} ms after it was sent and repeated it ${waitMs} ms later`;
      sent.push({ what, reference, answers, again });
    }
    await own.sleep(pauseMs);
    for (const { answers, again } of sent) answers.push(await again());
    return sent.map(({ what, reference, answers }) => {
      const shown = answers.filter(({ reply }) => !isRefusal(reply));
      return {
        what,
        reference,
        ids: new Set(shown.flatMap(({ reply }) => findRepeatedId(own.target, reply) ?? [])),
      };
    });
  });
