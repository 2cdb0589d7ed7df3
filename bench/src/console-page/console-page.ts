import { openBrowser } from '@gateway/testbed/open-browser'
import { startSeededStack, type SeededStack } from '@gateway/testbed/seeded-stack'
import type { BrowserContext, Page } from 'playwright-core'
import type { Graph } from '@gateway/api/graph'
import type { BenchDeps } from '../bench.ts'
import { median } from '../load/figures.ts'
import { describeRun } from '../report/machine.ts'
import { ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { withFixture } from '../stack/with-fixture.ts'
import { frames } from './frames.ts'
import { emptyFlow, largestFlow, longFlow } from './largest-flow.ts'
import { makeYear } from './make-year.ts'

// The console in a browser, on the seeded stack: time until it is usable, frame rate while dragging on the canvas of
// the largest flow, and time to draw a year of usage.

interface Round {
  coldMs: number
  knownMs: number
  dayMs: number
  yearMs: number
  idlePerSecond: number
  dragPerSecond: number
  /** Of the page's thread, per frame of the drag. */
  dragBusyMs: number
  /** While a canvas of 50 nodes and 60 edges, and one of two nodes, follow the mouse. */
  panPerSecond: number
  panLongestMs: number
  panBusyMs: number
  emptyPanPerSecond: number
  emptyPanLongestMs: number
}

const WANTED = { dragToIdle: 0.95, panToEmpty: 0.95, busyMs: 1000 / 60, yearToDay: 2 }
const now = () => performance.now()

export async function consolePage({ options, stops, log }: BenchDeps): Promise<string> {
  const stack = await startSeededStack(process.stdout)
  stops.add(stack.stop)
  await withFixture(stack.adminUrl, (fixture) => makeYear(fixture, stack.project, stack.models))
  const flows = {
    largest: await saveFlow(stack, 'The largest', largestFlow()),
    long: await saveFlow(stack, 'A long one', longFlow()),
    empty: await saveFlow(stack, 'An empty one', emptyFlow),
  }
  const browser = await openBrowser()
  stops.add(() => browser.close())

  const rounds: Round[] = []
  for (let n = 1; n <= options.rounds; n++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    await signIn(context, stack)
    const round = await measure(await context.newPage(), stack, flows, options.roundMs)
    await context.close()
    log(
      `round ${n} of ${options.rounds}: ${Object.entries(round)
        .map(([name, value]) => `${name} ${value.toFixed(1)}`)
        .join(', ')}`,
    )
    rounds.push(round)
  }
  return report(rounds, await describeRun(new Date()))
}

/** A point in the middle of the canvas, or near it, where the mouse takes hold of the ground and not of a node. */
const EMPTY_GROUND = `{
  const { x, y, width, height } = document.querySelector('.react-flow__pane').getBoundingClientRect()
  const points = Array.from({ length: 400 }, (_, n) => [x + width / 2 + (n % 20) * 8, y + height / 2 + Math.floor(n / 20) * 8])
  points.find(([x, y]) => document.elementFromPoint(x, y)?.classList.contains('react-flow__pane'))
}`

type Flows = Record<'largest' | 'long' | 'empty', string>

async function measure(page: Page, stack: SeededStack, flows: Flows, lastsMs: number): Promise<Round> {
  const home = `${stack.baseUrl}/console/projects/${stack.tenant}/${stack.project}`
  const shown = async (address: string, ready: (page: Page) => Promise<unknown>) => {
    const begunMs = now()
    await page.goto(address)
    await ready(page)
    return now() - begunMs
  }
  const wallet = () => page.getByText('Available', { exact: true }).first().waitFor()
  const chart = () => page.locator('figure.chart svg').first().waitFor()
  const coldMs = await shown(home, wallet)
  const knownMs = await shown(home, wallet)
  const dayMs = await shown(`${home}/usage?range=day`, chart)
  const yearMs = await shown(`${home}/usage?range=year`, chart)
  await page.goto(`${home}/flows/${flows.largest}`)
  const node = page.locator('.react-flow__node[data-id="t20"]')
  await node.waitFor()
  const { x, y, width } = (await node.boundingBox())!
  const idle = await frames(page, lastsMs, async () => {})
  await page.mouse.move(x + width / 2, y + 3)
  await page.mouse.down()
  const drag = await frames(page, lastsMs, (n) =>
    page.mouse.move(x + width / 2 + 120 * Math.sin(n / 9), y + 60 * Math.cos(n / 9)),
  )
  await page.mouse.up()
  const panned = async (flow: string) => {
    await page.goto(`${home}/flows/${flow}`)
    await page.locator('.react-flow__node[data-id="in"]').waitFor()
    const [startX, startY] = await page.evaluate<[x: number, y: number]>(EMPTY_GROUND)
    await page.mouse.move(startX, startY)
    await page.mouse.down()
    const pan = await frames(page, lastsMs, (n) =>
      page.mouse.move(startX - 300 * Math.sin(n / 12), startY - 150 * (1 - Math.cos(n / 12))),
    )
    await page.mouse.up()
    return pan
  }
  const emptyPan = await panned(flows.empty)
  const pan = await panned(flows.long)
  return {
    panPerSecond: pan.perSecond,
    panLongestMs: pan.longestMs,
    panBusyMs: pan.busyMs,
    emptyPanPerSecond: emptyPan.perSecond,
    emptyPanLongestMs: emptyPan.longestMs,
    coldMs,
    knownMs,
    dayMs,
    yearMs,
    idlePerSecond: idle.perSecond,
    dragPerSecond: drag.perSecond,
    dragBusyMs: drag.busyMs,
  }
}

async function signIn(context: BrowserContext, { baseUrl, email, password }: SeededStack): Promise<void> {
  const answer = await context.request.post(`${baseUrl}/api/v2/session`, { data: { email, password } })
  if (!answer.ok()) throw new Error(`Signing in was answered with ${answer.status()}.`)
}

/** Creates it as a user would: a sandbox product with its first revision. @returns its id */
async function saveFlow(
  { baseUrl, consoleToken, tenant, project }: SeededStack,
  name: string,
  graph: Graph,
): Promise<string> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${baseUrl}/api/v2/tenants/${tenant}/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${consoleToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as { id: string; problems?: unknown[] }
  }
  const { id } = await post(`projects/${project}/sandboxes`, { name })
  const { problems } = await post(`sandboxes/${id}/revisions`, { graph })
  if (problems?.length !== 0) throw new Error(`${name} has problems: ${JSON.stringify(problems)}`)
  return id
}

function report(rounds: Round[], run: string): string {
  const of = (name: keyof Round) => median(rounds.map((round) => round[name]))
  const ratio = (name: keyof Round, to: keyof Round) => median(rounds.map((round) => round[name] / round[to]))
  const rate = (value: number) => `${value.toFixed(1)}/s`
  return [
    run,
    table(
      ['in Chromium without a screen, from a click to what is shown', '', 'to the other'],
      [
        ['overview, never visited', ms(of('coldMs')), times(ratio('coldMs', 'knownMs'))],
        ['overview, visited before', ms(of('knownMs')), ''],
        ['usage of a day', ms(of('dayMs')), ''],
        ['usage of a year, by the day', ms(of('yearMs')), times(ratio('yearMs', 'dayMs'))],
        ['frames of the largest flow, no one moves', rate(of('idlePerSecond')), ''],
        [
          'frames of it while a node is dragged',
          rate(of('dragPerSecond')),
          times(ratio('dragPerSecond', 'idlePerSecond')),
        ],
        ['the page is busy for each of those frames', ms(of('dragBusyMs')), ''],
        ['frames while a canvas of two nodes is panned', rate(of('emptyPanPerSecond')), ''],
        ['the longest of them', ms(of('emptyPanLongestMs')), ''],
        [
          'frames while a canvas of 50 nodes and 60 edges is panned',
          rate(of('panPerSecond')),
          times(ratio('panPerSecond', 'emptyPanPerSecond')),
        ],
        ['the longest of them', ms(of('panLongestMs')), times(ratio('panLongestMs', 'emptyPanLongestMs'))],
        ['the page is busy for each of them', ms(of('panBusyMs')), ''],
      ],
    ),
    formatTargets([
      {
        what: 'frames while dragging to frames while no one moves',
        wanted: WANTED.dragToIdle,
        found: ratio('dragPerSecond', 'idlePerSecond'),
        better: 'more',
        say: times,
      },
      {
        what: 'frames while panning 50 nodes to those of two nodes',
        wanted: WANTED.panToEmpty,
        found: ratio('panPerSecond', 'emptyPanPerSecond'),
        better: 'more',
        say: times,
      },
      { what: 'busy for a frame', wanted: WANTED.busyMs, found: of('dragBusyMs'), better: 'less', say: ms },
      {
        what: 'usage of a year to that of a day',
        wanted: WANTED.yearToDay,
        found: ratio('yearMs', 'dayMs'),
        better: 'less',
        say: times,
      },
    ]),
  ].join('\n\n')
}
