/**
 * Moves a route to another place in the fallback order and numbers all by their order. Routes that share a priority keep
 * it as long as the order stays.
 */
export function movedRoutes<Route extends { priority: number }>(
  routes: readonly Route[],
  from: number,
  to: number,
): Route[] {
  if (from === to || !routes[from] || !routes[to]) return [...routes]
  return movedItems(routes, from, to).map((route, n) => ({ ...route, priority: n + 1 }))
}

export function movedItems<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const rest = items.filter((_, n) => n !== from)
  return [...rest.slice(0, to), items[from]!, ...rest.slice(to)]
}

/** Place of a dragged row: the number of other rows whose middle is above the pointer. */
export function placeAt(pointerY: number, middles: readonly number[], from: number): number {
  return middles.filter((middle, n) => n !== from && middle < pointerY).length
}
