// The operations that the match bench feeds to both books, made before anything is measured.
import { createBook } from "../../packages/domain/dist/index.js";

/** @typedef {import("../../packages/domain/dist/index.js").BookCommand} BookCommand */
/** @typedef {import("../../packages/domain/dist/index.js").Effect} Effect */

/**
 * @typedef {object} Workload
 * @property {BookCommand[]} resting what fills the book before the measurement
 * @property {BookCommand[]} mix the operations that are measured; the book keeps its size
 */

const middle = 10_000_000;
const marketShare = 0.08;
const aggressiveShare = 0.05;
const nearLevels = 50;
const nearOrders = 1000;

/**
 * A book of so many orders, and limit, cancel and market operations that keep it at that size; a twentieth of the limit orders
 * crosses. With activity `anywhere`, prices are even over all levels and cancels hit any open order with the same chance, which is the
 * worst case for a computer's memory; with `near`, new orders come within 50 levels of the best and cancels hit the last 1000 of
 * them, as on a real market. A book of ours plays along only to know which orders are open.
 * @param {{ restingCount: number, ordersPerLevel: number, operationCount: number, activity: "anywhere" | "near" }} options
 * @returns {Workload}
 */
export function makeWorkload({ restingCount, ordersPerLevel, operationCount, activity }) {
  const random = createRandom(restingCount + ordersPerLevel);
  const levelsPerSide = Math.max(1, Math.round(restingCount / ordersPerLevel / 2));
  const book = createBook();
  const open = createOpenIds();
  /** @type {Effect[]} */
  const effects = [];
  let made = 0;
  const id = () => textOf(`0192f0c1-7a2b-7c3d-8e4f-${(++made).toString(16).padStart(12, "0")}`);
  const numberOf = (/** @type {string} */ text) => Number.parseInt(text.slice(-12), 16);
  const below = (/** @type {number} */ limit) => Math.floor(random() * limit);
  const side = () => (random() < 0.5 ? "buy" : /** @type {const} */ ("sell"));

  /** @param {boolean} isAggressive @param {number} levels @returns {BookCommand} */
  const limit = (isAggressive, levels) => {
    const own = side();
    const offset = isAggressive ? -1 - below(3) : 1 + below(levels);
    return {
      kind: "place_limit",
      id: id(),
      number: made,
      // Nobody meets an order of their own: what is done about that differs between the libraries.
      owner: isAggressive ? `crossing-${made}` : `maker-${below(1000)}`,
      side: own,
      price: own === "buy" ? middle - offset : middle + offset,
      size: 1 + below(100),
      timeInForce: "gtc",
      selfTrade: "cancel_newest",
    };
  };
  /** @returns {BookCommand} */
  const market = () => ({
    kind: "place_market",
    id: id(),
    number: made,
    owner: "taker",
    side: side(),
    size: 1 + below(100),
    selfTrade: "cancel_newest",
  });
  /** @param {BookCommand} command */
  const play = (command) => {
    book.apply(command, effects);
    for (const effect of effects) {
      if (effect.kind === "rested") open.add(effect.id);
      else if (effect.kind === "cancelled") open.remove(effect.id);
      else if (effect.kind === "trade" && effect.makerRemaining === 0) open.remove(effect.maker);
    }
    effects.length = 0;
    return command;
  };

  const resting = Array.from({ length: restingCount }, () => play(limit(false, levelsPerSide)));
  const levels = activity === "near" ? Math.min(levelsPerSide, nearLevels) : levelsPerSide;
  const openId = () => (activity === "near" ? open.recent(below(nearOrders)) : open.at(below(open.count())));
  const mix = Array.from({ length: operationCount }, () => {
    if (random() < marketShare) return play(market());
    if (random() < (open.count() < restingCount ? 0.6 : 0.4))
      return play(limit(random() < aggressiveShare, levels));
    const openOne = openId();
    return play({ kind: "cancel", number: numberOf(openOne), id: textOf(openOne) });
  });
  return { resting, mix };
}

/** Numbers from 0 to 1 that are the same in every run (mulberry32). @param {number} seed */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A text of its own memory, as one from the network is, and not joined from parts that the first use must flatten. @param {string} text */
function textOf(text) {
  return Buffer.from(text, "latin1").toString("latin1");
}

/** The ids of open orders, any of which can be picked at random. */
function createOpenIds() {
  /** @type {string[]} */
  const ids = [];
  /** @type {Map<string, number>} */
  const places = new Map();
  /** @type {string[]} */
  const history = [];
  return {
    count: () => ids.length,
    at: (/** @type {number} */ place) => /** @type {string} */ (ids[place]),
    /** The open order that came last before the given number of others. @param {number} back */
    recent: (back) => {
      let at = Math.max(0, history.length - 1 - back);
      while (at > 0 && !places.has(/** @type {string} */ (history[at]))) at -= 1;
      return /** @type {string} */ (history[at]);
    },
    /** @param {string} id */
    add: (id) => {
      places.set(id, ids.length);
      ids.push(id);
      history.push(id);
    },
    /** @param {string} id */
    remove: (id) => {
      const place = places.get(id);
      if (place === undefined) return;
      const last = /** @type {string} */ (ids.pop());
      places.delete(id);
      if (last === id) return;
      ids[place] = last;
      places.set(last, place);
    },
  };
}
