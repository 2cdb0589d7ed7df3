import { config } from 'zod'

// The policy of the page forbids to make code of text, and zod would try.
config({ jitless: true })
