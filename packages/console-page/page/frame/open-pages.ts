/** Pages that need no sign-in. */
export const openPages = { invitation: '/invitation', reset: '/reset' } as const

export function isOpenPage(pathname: string): boolean {
  return Object.values<string>(openPages).includes(pathname)
}
