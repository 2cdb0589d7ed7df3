import { useRef } from 'react'
import { newIdempotencyKey } from '../keys/new-idempotency-key.ts'

/** The idempotency key of a body: the same for the same one, however often, so that one thing is made of it. */
export function useOnce(): (body: object) => string {
  const last = useRef({ text: '', key: '' })
  return (body) => {
    const text = JSON.stringify(body)
    if (last.current.text !== text) last.current = { text, key: newIdempotencyKey() }
    return last.current.key
  }
}
