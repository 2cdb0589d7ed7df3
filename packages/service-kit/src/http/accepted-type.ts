import type { Request } from 'express'

type Asked = Pick<Request, 'headers' | 'accepts'>

/**
 * Returns the one of these content types that an Accept header prefers, or false if it accepts none. Parameters of a
 * type other than `q`, such as `charset`, say nothing here.
 */
export function acceptedType(req: Asked, types: string[]): string | false {
  const accept = req.headers.accept?.replaceAll(PARAMETER, '')
  const plain = Object.create(req, { headers: { value: { ...req.headers, accept } } }) as Asked
  return plain.accepts(types)
}

/** A parameter of a type in an Accept header, other than its quality. */
const PARAMETER = /;\s*(?!q\s*=)[^;,="]+=(?:"[^"]*"|[^;,]*)/gi

/** Whether an Accept header names no content type: it is absent, empty, or `*\/*` alone. */
export function namesNoType({ headers: { accept = '' } }: Pick<Request, 'headers'>): boolean {
  return /^\s*(?:\*\/\*\s*(?:;[^,]*)?)?$/.test(accept)
}
