import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { lastActivityKey, watchIdle } from "./idle-watch";

const minuteMs = 60_000;

describe("a session whose page is open and live", () => {
  let ended: boolean[];
  let answers: boolean[];
  let stored: Map<string, string>;
  let page: EventTarget;
  let stop: () => void;
  beforeEach(() => {
    vi.useFakeTimers();
    [ended, answers, stored, page] = [[], [], new Map(), new EventTarget()];
    stop = watchIdle({
      end: async () => {
        const answer = answers.shift() ?? true;
        ended.push(answer);
        return answer;
      },
      acts: page,
      storage: {
        getItem: (key) => stored.get(key) ?? null,
        setItem: (key, value) => void stored.set(key, value),
      },
    });
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
  });
  const pass = (minutes: number) => vi.advanceTimersByTimeAsync(minutes * minuteMs);

  it("ends once, half an hour after its person has done something for the last time", async () => {
    await pass(29);
    expect(ended).toEqual([]);
    await pass(1);
    expect(ended).toEqual([true]);
    await pass(60);
    expect(ended).toEqual([true]);
  });

  it.each(["pointerdown", "keydown", "wheel", "touchmove"])("goes on after a %s", async (act) => {
    await pass(20);
    page.dispatchEvent(new Event(act));
    await pass(29);
    expect(ended).toEqual([]);
    await pass(2);
    expect(ended).toEqual([true]);
  });

  it("goes on while somebody does something in another tab", async () => {
    await pass(20);
    stored.set(lastActivityKey, String(Date.now()));
    await pass(29);
    expect(ended).toEqual([]);
  });

  it("is ended by a later attempt if the service could not be reached", async () => {
    answers = [false, false];
    await pass(31);
    expect(ended).toEqual([false, false, true]);
  });

  it("is not continued by who comes back later", async () => {
    answers = [false, false, false];
    await pass(30);
    page.dispatchEvent(new Event("pointerdown"));
    await vi.advanceTimersByTimeAsync(0);
    expect(ended).toEqual([false, false]);
    stored.set(lastActivityKey, String(Date.now()));
    await pass(2);
    expect(ended.at(-1)).toBe(true);
  });

  it("does not wait for its timer, which a sleeping computer has stopped", async () => {
    vi.setSystemTime(Date.now() + 40 * minuteMs);
    page.dispatchEvent(new Event("keydown"));
    await vi.advanceTimersByTimeAsync(0);
    expect(ended).toEqual([true]);
  });

  it("ends also if the clock is set back by hours", async () => {
    await pass(10);
    vi.setSystemTime(Date.now() - 5 * 60 * minuteMs);
    await pass(1);
    page.dispatchEvent(new Event("keydown"));
    await pass(29);
    expect(ended).toEqual([]);
    await pass(2);
    expect(ended).toEqual([true]);
  });

  it("is watched no more after the page has stopped that", async () => {
    stop();
    await pass(60);
    expect(ended).toEqual([]);
  });
});
