import { useRef } from 'react'
import { newIdempotencyKey } from '../keys/new-idempotency-key.ts'

/** Returns the idempotency key of a body. The key changes only with the body, so resubmitting creates one record. */
export function useOnce(): (body: object) => string {
  const last = useRef({ text: '', key: '' })
  return (body) => {
    const text = JSON.stringify(body)
    if (last.current.text !== text) last.current = { text, key: newIdempotencyKey() }
    return last.current.key
  }
}
