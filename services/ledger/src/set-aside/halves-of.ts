/** Takes a list apart in the middle. So the bad items of a batch are found in few batches: a few times log n for each. */
export function halvesOf<Item>(items: readonly Item[]): [Item[], Item[]] {
  const middle = Math.ceil(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)]
}
