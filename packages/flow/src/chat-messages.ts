/** Returns the messages of a chat node's call (flows §2.3). `images` are references, in order; `system` null: none. */
export function chatMessages({
  system,
  prompt,
  images,
}: {
  system: string | null
  prompt: string
  images: readonly string[]
}): object[] {
  const parts = images.map((url) => ({ type: 'image_url', image_url: { url } }))
  return [
    ...(system === null ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: parts.length === 0 ? prompt : [{ type: 'text', text: prompt }, ...parts] },
  ]
}
