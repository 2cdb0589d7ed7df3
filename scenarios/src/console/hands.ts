import type { Locator } from 'playwright-core'
import type { Page } from './browser.ts'

/** How a user works with the console. One story runs with the mouse and with the keyboard alone. */
export interface Hand {
  press(target: Locator): Promise<void>
  /** Replaces the text of a field. */
  write(field: Locator, text: string): Promise<void>
  /** Sets a radio button or checkbox. */
  mark(target: Locator): Promise<void>
  /** Chooses an item of the open menu. */
  choose(item: string): Promise<void>
}

export const hands = ['mouse', 'keyboard'] as const

export function handOf(page: Page, kind: (typeof hands)[number]): Hand {
  return kind === 'mouse' ? mouse(page) : keyboard(page)
}

const itemOf = (page: Page, name: string) => page.getByRole('menuitem', { name, exact: true })

const mouse = (page: Page): Hand => ({
  press: (target) => target.click(),
  write: (field, text) => field.fill(text),
  mark: (target) => target.check(),
  choose: (item) => itemOf(page, item).click(),
})

function keyboard(page: Page): Hand {
  const { keyboard } = page
  return {
    async press(target) {
      await tabTo(page, target)
      await keyboard.press('Enter')
    },
    async write(field, text) {
      await tabTo(page, field)
      await keyboard.press('Control+a')
      await keyboard.type(text)
    },
    async mark(target) {
      await tabTo(page, target, 'arrows')
      if (!(await target.isChecked())) await keyboard.press('Space')
    },
    async choose(item) {
      await itemOf(page, item).waitFor()
      await page.locator('[role=menu]:focus-within, [role=listbox]:focus-within').first().waitFor()
      await keyboard.type(item)
      await itemOf(page, item).and(page.locator(':focus')).waitFor()
      await keyboard.press('Enter')
    },
  }
}

const MOST_STOPS = 200

/** Presses Tab until the target has the focus. `arrows`: also looks among the radio buttons of each group on the way. */
async function tabTo(page: Page, target: Locator, among: 'stops' | 'arrows' = 'stops'): Promise<void> {
  await target.waitFor()
  const isThere = async () => (await target.and(page.locator(':focus')).count()) > 0
  const isRadio = () => page.evaluate<boolean>('document.activeElement?.type === "radio"')
  for (let stops = 0; stops < MOST_STOPS; stops++) {
    if (await isThere()) return
    await page.keyboard.press('Tab')
    if (among === 'stops' || !(await isRadio()) || (await isThere())) continue
    await page.keyboard.press('ArrowDown')
    if (await isThere()) return
    await page.keyboard.press('ArrowUp')
  }
  throw new Error(`Tab doesn't reach ${String(target)}.`)
}
