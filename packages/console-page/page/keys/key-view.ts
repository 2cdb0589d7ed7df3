/** What the screen of keys shows, as the address has it. */
export interface KeyView {
  /** Keys that have ended, too. */
  ended?: true
  /** The form for a new key is open. */
  create?: true
}

export function keyView({ ended, create }: Record<string, unknown>): KeyView {
  return { ...(ended === true && { ended }), ...(create === true && { create }) }
}
