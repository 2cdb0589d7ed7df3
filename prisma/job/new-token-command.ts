// Prints a new personal token, to be the OPERATOR_TOKEN of the migration job. It is known to no one until the job has run.
import { randomBytes } from 'node:crypto'
import { makeSecret, USER_TOKEN_PREFIX } from '@gateway/api/ids'

process.stdout.write(`${makeSecret(USER_TOKEN_PREFIX, randomBytes(32))}\n`)
