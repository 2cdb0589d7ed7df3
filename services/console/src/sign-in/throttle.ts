import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { refuse } from '@gateway/contracts/refusal'

// Guessing passwords is slow by e-mail together with address, by e-mail alone and by address alone, so that neither many
// addresses nor many e-mails get round it. Counted in this process: with replicas the limits are as many times higher.

const LIMITS = {
  emailAndAddress: { points: 5, duration: 60 },
  email: { points: 50, duration: 600 },
  address: { points: 50, duration: 60 },
}

export interface Throttle {
  /**
   * Counts an attempt to sign in.
   * @throws Refusal `rate_limited`
   */
  attempt(email: string, address: string): Promise<void>
  /** A person who has signed in starts anew; the address does not. */
  succeeded(email: string, address: string): Promise<void>
}

export function openThrottle(): Throttle {
  const both = new RateLimiterMemory({ keyPrefix: 'both', ...LIMITS.emailAndAddress })
  const byEmail = new RateLimiterMemory({ keyPrefix: 'email', ...LIMITS.email })
  const byAddress = new RateLimiterMemory({ keyPrefix: 'address', ...LIMITS.address })
  const pair = (email: string, address: string) => `${address} ${email}`

  return {
    async attempt(email, address) {
      try {
        await byAddress.consume(address)
        await both.consume(pair(email, address))
        await byEmail.consume(email)
      } catch (error) {
        if (error instanceof RateLimiterRes) throw refuse('rate_limited', {}, { retryAfterMs: error.msBeforeNext })
        throw error
      }
    },
    async succeeded(email, address) {
      await both.delete(pair(email, address))
      await byEmail.delete(email)
    },
  }
}
