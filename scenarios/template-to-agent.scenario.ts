import path from 'node:path'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { expect } from 'vitest'
import { hindrances } from './src/console/browser.ts'
import { consoleTest as test } from './src/console/console-test.ts'
import { placesOf } from './src/console/places.ts'
import { consoleOwner, signedInAt } from './src/console/users.ts'
import { choose } from './src/console/widgets.ts'
import { agents } from './src/guides/agents.ts'
import { homeOf, openShell } from './src/guides/guide-shell.ts'
import { missingForGuides } from './src/guides/is-there.ts'
import { packCommandLine } from './src/mcp/pack-command-line.ts'
import { registryProgram } from './src/registry-program.ts'

/** Fetching the agent can take a minute if the registry is slow. */
const fetched = { timeout: 300_000 }
const claudeCode = agents.find(({ title }) => title === 'Claude Code')!

test(
  'a flow from a template is run, activated, and called by Claude Code with the settings that the console shows',
  fetched,
  async ({ stack, visit, onTestFinished, skip }) => {
    const missing = await missingForGuides()
    if (missing !== null) skip(`there is no ${missing} on this machine`)
    const owner = await consoleOwner(stack)
    const { page, problems } = await signedInAt(visit, owner, `${owner.home}/flows`)
    const { button, createFlow, flow, run } = placesOf(page)
    await button('Create flow').first().click()
    const gallery = page.getByRole('dialog', { name: 'Create flow' })
    await gallery.getByRole('radio', { name: 'Translate' }).click()
    await createFlow.name.fill('To French')
    await createFlow.submit.click()
    await flow.state('Revision 1').waitFor()
    await run.tab.click()
    await run.input('Text').fill('Rain is wet.')
    await run.input('Language').fill('French')
    await run.start.click()
    await run.result.getByText('Succeeded', { exact: true }).waitFor()
    await flow.activate.click()
    await flow.state('Active').waitFor()

    await button('More actions').click()
    await page.getByRole('menuitem', { name: 'Connect client' }).click()
    const dialog = page.getByRole('dialog', { name: 'Connect client' })
    await dialog.getByLabel('Expose as MCP server').click()
    await dialog.getByText('Clients are refused while this is off.').waitFor({ state: 'detached' })
    await choose(dialog, 'Client', 'Claude Code')
    const shown = (await dialog.locator('pre').textContent())!
    expect(await hindrances(page)).toEqual([])

    const program = await registryProgram(claudeCode)
    expect(program, `the registry has no ${claudeCode.name}@${claudeCode.version}`).not.toBeNull()
    const folder = await temporaryFolder('agent')
    await packCommandLine(folder)
    const { PATH = '', ...home } = homeOf(folder)
    const shell = openShell(folder, {
      ...home,
      PATH: [path.dirname(program!), PATH].join(path.delimiter),
      ANTHROPIC_BASE_URL: stack.gateways[0]!.url,
      ANTHROPIC_API_KEY: owner.key.secret,
      ANTHROPIC_SMALL_FAST_MODEL: owner.model,
      MCP_CONNECT_TIMEOUT_MS: '60000', // npx installs the bridge: with -p, tools that are later than this are left out
    })
    onTestFinished(shell.close)
    const added = shown.replaceAll('svc_your_key', owner.key.secret).replaceAll('/path/to', folder)
    await shell.run(/npx --yes \S+/.exec(added)![0] + ' --version') // a slow or failed installation fails here, not in the agent
    await shell.run(added)
    const said = await shell.run(
      `claude --model ${owner.model} --tools '' --allowedTools mcp__to-french__invoke_product -p 'Translate: rain is wet.'`,
    )

    await button('Close').click()
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Flows' }).click()
    const executions = async () => {
      const at = `/api/v2/tenants/${owner.project.tenant}/projects/${owner.project.id}/executions`
      return (await owner.caller.ask('GET', at)).body.data as { key: string | null; status: string }[]
    }
    expect([said, await executions()]).toMatchObject([
      expect.stringMatching(/\S/) as string, // says why no flow was called
      [
        { key: owner.key.id, status: 'Succeeded' },
        { key: null, status: 'Succeeded' },
      ],
    ])
    expect(problems).toEqual([])
  },
)
