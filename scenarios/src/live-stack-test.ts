import { stackTest } from '@gateway/testbed/stack-test'
import { connectStack } from './stack.ts'

/**
 * `test` with the whole service in the test process, for sequences of calls that need no process killed, paused or traced. Each test
 * creates its own tenant, because all files share the services.
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
