/** A name in a fixture: never the id, so that a test cannot confuse the two. */
export const nameOf = (id: string): string => `Named ${id.slice(-6)}`
