import type { Response } from 'express'

/** Who is signed in. */
export interface Person {
  id: string
  email: string
  name: string
  platformOperator: boolean
}

/** Whether `authenticate` has let somebody through. */
export function isSignedIn(res: Pick<Response, 'locals'>): boolean {
  return res.locals['person'] !== undefined
}

/** Only behind `authenticate`, which puts it there. */
export function personOf(res: Pick<Response, 'locals'>): Person {
  return res.locals['person'] as Person
}
