/** The name of something in a fixture: never its id, so that no test takes the one for the other. */
export const nameOf = (id: string): string => `Named ${id.slice(-6)}`
