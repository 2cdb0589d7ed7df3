import { startSimulatedProvider } from '@gateway/simulated-provider/start-provider'
import { liveTest } from '@gateway/testbed/live-test'
import { openBrowser } from '@gateway/testbed/open-browser'
import { openLiveStack } from '../stack.ts'

/** `test` with a funded project, a browser, and a stack whose gateway has the simulated providers alpha and beta. */
export function operatorTest(settings: object = {}) {
  return liveTest.extend('place', async ({ database, redis }, { onCleanup }) => {
    const [first, second] = await Promise.all([startSimulatedProvider(), startSimulatedProvider()])
    const provider = (url: string) => ({
      kind: 'openai-compatible',
      baseUrl: `${url}/v1`,
      apiKeyEnv: 'SIMULATED_PROVIDER_KEY',
      allowPrivateAddress: true,
      ...settings,
    })
    const PROVIDERS = JSON.stringify({ alpha: provider(first.url), beta: provider(second.url) })
    const stack = await openLiveStack({
      ...database,
      redisUrl: redis.url,
      environment: { gateway: () => ({ PROVIDERS }) },
    })
    const browser = await openBrowser()
    onCleanup(async () => {
      await browser.close()
      await stack.close()
      await first.stop()
      await second.stop()
    })
    return { stack, browser, alpha: first.control, beta: second.control, tenant: await stack.tenant(10_000_000n) }
  })
}
