import { wholeNumber } from '@gateway/service-kit/process/config'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { environmentProblems } from './environment-problems.ts'

const program = {
  variables: z.object({
    PORT: wholeNumber({ min: 1, max: 9 }).default(1),
    SECRET: z.string().min(4),
    NOTE: z.string().optional(),
  }),
  alsoReads: /^OTEL_/,
}

test.each([
  [{ SECRET: null }, []],
  [{ SECRET_FILE: '/run/secret', PORT: '2', NOTE: '', OTEL_LOG_LEVEL: 'debug' }, []],
  [{ PORT: '2' }, ['SECRET is missing']],
  [{ SECRET: '' }, ['SECRET is missing']],
  [{ SECRET: null, SECRETS: 'x' }, ['SECRETS is not read by any service']],
  [{ SECRET: null, PROT_FILE: 'x' }, ['PROT_FILE is not read by any service']],
  [{ SECRET: null, SECRET_FILE: 'x' }, ['SECRET is set twice']],
  [{ SECRET: null, PORT: '10' }, ['PORT is wrong: expected a whole number from 1 to 9']],
])('%j', (given, problems) => {
  expect(environmentProblems(program, given)).toEqual(problems)
})
