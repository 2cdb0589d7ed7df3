import { stackTest } from '@gateway/testbed/stack-test'
import { connectStack } from './stack.ts'

/**
 * `test` with the whole service in the test's own process and the books alongside it: for what is a sequence of calls, and needs
 * no process to be killed, paused or traced. Each test makes its own tenant, because other files share the services.
 */
export const liveStackTest = stackTest.extend(
  'stack',
  { scope: 'file' },
  async ({ services, database }, { onCleanup }) => {
    const stack = await connectStack(services, database)
    onCleanup(stack.close)
    return stack
  },
)
