import axe from 'axe-core'
import { expect } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { exampleIds } from '@gateway/api/example-ids'
import { refuse } from '@gateway/api/refusal'
import { pageTest as test, project } from './page-test.fixture.tsx'
import { openRouter } from './router.tsx'

// Every screen, and every dialog and menu that its buttons open, filled with the examples of the contract: it can be
// used with any aid, and fits a narrow window. What a button does is harmless here, so all of them are tried.

const color = ['color-contrast']
/** Each width with all rules; what depends on the scheme alone in all four. */
const views = [
  { width: 1280, scheme: 'light', rules: null },
  { width: 360, scheme: 'dark', rules: null },
  { width: 360, scheme: 'light', rules: color },
  { width: 1280, scheme: 'dark', rules: color },
]

const ids: Record<string, string> = { ...exampleIds, call: exampleIds.invocation }
const addresses = Object.keys(openRouter().routesByPath)
  .map((path) => path.replaceAll(/\$(\w+)/g, (_, name: string) => ids[name] ?? name))
  .map((path) => (path.endsWith('/command-line') ? `${path}?challenge=${'c'.repeat(43)}` : path))

const aroundTheTest = Object.fromEntries(
  ['document-title', 'html-has-lang', 'region'].map((rule) => [rule, { enabled: false }]),
)
/** Operations that leave the page once they succeed. Here they are refused, which shows the refusal, too. */
const leaving = [
  'acceptInvitation',
  'completeReset',
  'createSignInCode',
  'joinOrganization',
  'setPassword',
  'signIn',
  'signInWithInvitation',
  'signOut',
  'signOutEverywhere',
] as const

/** Violations of any kind at each width and in each scheme, and what does not fit the width. */
async function violations(what: string): Promise<string[]> {
  const found = new Set<string>()
  for (const { width, scheme, rules } of views) {
    await page.viewport(width, 900)
    document.documentElement.dataset['scheme'] = scheme
    const result = await axe.run(document, {
      ...(rules ? { runOnly: rules } : { rules: aroundTheTest }),
      resultTypes: ['violations'],
    })
    for (const { id, nodes } of result.violations)
      for (const { html } of nodes) found.add(`${what}, ${width} ${scheme}: ${id}: ${html.slice(0, 200)}`)
    if (rules) continue
    if (document.documentElement.scrollWidth > innerWidth) found.add(`${what}, ${width}: scrolls sideways`)
    for (const texts of overlaps()) found.add(`${what}, ${width}: overlap: ${texts}`)
  }
  await page.viewport(1280, 900)
  return [...found]
}

const isShown = (element: Element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
const all = (selector: string, within: ParentNode = document) =>
  [...within.querySelectorAll<HTMLElement>(selector)].filter(isShown)
const dialogNow = () => all('dialog[open], [role=dialog], [role=alertdialog]').at(-1) ?? null
const titleOf = (dialog: HTMLElement) =>
  (document.getElementById(dialog.getAttribute('aria-labelledby') ?? '')?.textContent ?? dialog.ariaLabel ?? '').trim()
/** Pairs of texts that overlap on screen. What a scrolled part or a sticky one hides does not count. */
function overlaps(): string[] {
  const texts = all('*', dialogNow() ?? document.body)
    .filter(({ children, textContent }) => children.length === 0 && textContent.trim() !== '')
    .filter((element) => !element.closest('.visually-hidden, option, svg'))
    .map((element) => {
      const range = document.createRange()
      range.selectNodeContents(element)
      // Per line: the bounding box of wrapped text also covers text in front of its second line.
      const lines = partsOf(element).reduce(
        (shown, part) => shown.filter((line) => isIn(line, part)),
        [...range.getClientRects()],
      )
      return { text: element.textContent, lines, pin: pinOf(element) }
    })
  return texts.flatMap((one, n) =>
    texts
      .slice(n + 1)
      .filter(({ pin, lines }) => one.pin === pin && one.lines.some((line) => lines.some((its) => isOver(line, its))))
      .map(({ text }) => `${one.text} | ${text}`),
  )
}
const pinOf = (element: Element | null): Element | null =>
  !element || getComputedStyle(element).position === 'sticky' ? element : pinOf(element.parentElement)
/** The boxes outside of which an element is hidden. */
function partsOf(element: Element | null): DOMRect[] {
  if (!element) return []
  const { overflowX, overflowY, clipPath } = getComputedStyle(element)
  const isPart = overflowX !== 'visible' || overflowY !== 'visible' || clipPath !== 'none'
  return [...(isPart ? [element.getBoundingClientRect()] : []), ...partsOf(element.parentElement)]
}
const isIn = (line: DOMRect, part: DOMRect) =>
  line.top >= part.top - 1 &&
  line.bottom <= part.bottom + 1 &&
  line.left >= part.left - 1 &&
  line.right <= part.right + 1
const isOver = (a: DOMRect, b: DOMRect) =>
  Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2
const labelOf = (element: HTMLElement) => (element.ariaLabel ?? element.textContent ?? '').trim()
const settled = async () => {
  await new Promise((resolve) => setTimeout(resolve, 60))
  await expect
    .poll(() => all('main h1, .flow-header h1').length > 0 && all('.waiting, .skeleton').length === 0)
    .toBe(true)
}
/** What fades or slides has no one contrast. */
const still = new CSSStyleSheet()
still.replaceSync('*, ::before, ::after { transition: none !important; animation: none !important }')
document.adoptedStyleSheets.push(still)

async function closeAll(): Promise<void> {
  for (let tries = 0; dialogNow() && tries < 4; tries++) {
    // A form asks before it loses what was typed in it.
    const names = all('.dialog').length > 1 ? /^Leave$/ : /^(Cancel|Close|Done|Stay)$/
    const button = all('button', dialogNow()!).find((each) => names.test(labelOf(each)))
    if (button) button.click()
    else await userEvent.keyboard('{Escape}')
    await settled()
  }
}

/** Checks the dialog that is open, and the one that its submission leads to. Returns the titles. */
async function checkDialog(seen: Map<string, string[]>): Promise<void> {
  const dialog = dialogNow()
  if (!dialog) return
  const title = titleOf(dialog).replace(/^Connect \S+\.\S+ to/, 'Connect a port to')
  if (!seen.has(title)) {
    seen.set(title, await violations(title))
    for (const input of all('input[required]', dialog) as HTMLInputElement[])
      if (input.value === '')
        await userEvent.fill(input, { email: 'ada@example.com', number: '5' }[input.type] ?? 'Example')
    all('button[type=submit]', dialog)[0]?.click()
    await settled()
    const next = dialogNow()
    if (next && titleOf(next) !== title) await checkDialog(seen)
  }
  await closeAll()
}

test.for(addresses)('%s and its dialogs have no violation', { timeout: 120_000 }, async (address, { api, open }) => {
  for (const operation of leaving) api.answer(operation, refuse('not_permitted', { need: 'another right' }))
  await page.viewport(1280, 900)
  const { address: now, goTo } = await open(address)
  await settled()
  const seen = new Map([[address, await violations(address)]])
  const buttons = () => all('main button:enabled, main summary')
  for (const label of new Set(buttons().map(labelOf))) {
    const button = buttons().find((each) => labelOf(each) === label)
    if (!button) continue
    button.click()
    await settled()
    await checkDialog(seen)
    for (const item of all('[role=menu] [role=menuitem]').map(labelOf)) {
      if (all('[role=menu]').length === 0) button.click()
      await settled()
      all('[role=menuitem]')
        .find((each) => labelOf(each) === item)
        ?.click()
      await settled()
      await checkDialog(seen)
    }
    if (now().pathname !== address.split('?')[0]) await goTo(address)
    await settled()
  }
  expect([...seen.values()].flat()).toEqual([])
})

test('the sign-in screen has no violation', async ({ api, open }) => {
  api.answer('readMe', refuse('session_missing', {}))
  const { screen } = await open(project)
  await expect.element(screen.getByLabelText('Email')).toBeVisible()
  expect(await violations('sign-in')).toEqual([])
})

/** What shows that an element has the focus: on it, or on what stands for a hidden control. */
const shownFocus = (element: Element) =>
  [element, element.nextElementSibling, element.parentElement, element.closest('label')]
    .filter((each) => each !== null)
    .map((each) => {
      const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(each)
      const outline = outlineStyle === 'none' ? '' : [outlineStyle, outlineWidth, outlineColor].join(' ')
      const line = each.querySelector(':scope .react-flow__edge-path')
      return [
        outline,
        boxShadow,
        getComputedStyle(each, '::after').backgroundColor,
        line && getComputedStyle(line).stroke,
      ]
    })
    .join()

test.for(['', '/keys', '/calls', '/settings', `/flows/${exampleIds.sandbox}`])(
  'every tab stop of %s shows the focus',
  { timeout: 120_000 },
  async (screen, { open }) => {
    await page.viewport(1280, 900)
    await open(`${project}${screen}`)
    await settled()
    const before = new Map(
      all('a, button, input, select, textarea, summary, [tabindex]').map((each) => [each, shownFocus(each)]),
    )
    all('.skip')[0]?.focus()
    const stops = new Set<Element>()
    const hidden: string[] = []
    for (let presses = 0; presses < 150; presses++) {
      await userEvent.keyboard('{Tab}')
      const stop = document.activeElement
      if (!stop || stop === document.body || stops.has(stop)) break
      stops.add(stop)
      if (before.get(stop as HTMLElement) === shownFocus(stop)) hidden.push(stop.outerHTML.slice(0, 200))
    }
    expect(stops.size).toBeGreaterThan(20)
    expect(hidden).toEqual([])
  },
)
