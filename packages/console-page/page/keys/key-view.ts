/** State of the keys screen in the URL. */
interface KeyView {
  /** Include revoked and expired keys. */
  ended?: true
  /** Open the form for a new key. */
  create?: true
}

export function keyView({ ended, create }: Record<string, unknown>): KeyView {
  return { ...(ended === true && { ended }), ...(create === true && { create }) }
}
