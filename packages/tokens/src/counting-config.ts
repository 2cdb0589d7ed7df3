import { wholeNumber } from '@gateway/service-kit/process/config-fields'

/** Variables of each service that counts the tokens of prompts. */
export const countingConfig = {
  COUNTING_THREADS: wholeNumber({ min: 1, max: 64 }).optional().meta({
    description:
      'Threads that count the tokens of prompts; without it 1, or 2 where there are more than two processors',
  }),
  COUNTING_AT_ONCE: wholeNumber({ min: 1, max: 1_000_000_000 }).default(33_554_432).meta({
    description: 'Characters of prompts that may wait to be counted, of one project as many as are free',
  }),
}
