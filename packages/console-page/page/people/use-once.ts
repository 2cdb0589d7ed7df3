import { useRef } from 'react'
import { newIdempotencyKey } from '../keys/new-idempotency-key.ts'

/** The header under which a body is sent: the same for the same body, however often, so that one thing is made of it. */
export function useOnce(): (body: object) => { 'Idempotency-Key': string } {
  const last = useRef({ text: '', key: '' })
  return (body) => {
    const text = JSON.stringify(body)
    if (last.current.text !== text) last.current = { text, key: newIdempotencyKey() }
    return { 'Idempotency-Key': last.current.key }
  }
}
