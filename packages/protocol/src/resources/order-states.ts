import { type OrderState, orderStates, orderTransitions } from "@bursar/domain";

/** The table of states as the API shows it. An amendment and a further fill leave an order in its state: that is no step. */
export function describeOrderStates() {
  return (Object.keys(orderStates) as OrderState[]).map((state) => ({
    state,
    meaning: orderStates[state].meaning,
    final: orderStates[state].final,
    next: [...new Set(Object.values(orderTransitions[state]))].filter((next) => next !== state),
  }));
}
