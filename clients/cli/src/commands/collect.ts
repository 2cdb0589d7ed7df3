/** Collects the records of pages, up to a maximum. */
export async function collect<Item>(pages: AsyncIterable<{ data: Item[] }>, atMost = Number.POSITIVE_INFINITY) {
  const items: Item[] = []
  for await (const { data } of pages) {
    items.push(...data)
    if (items.length >= atMost) break
  }
  return items.slice(0, atMost)
}
