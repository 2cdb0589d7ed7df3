import { expect, test } from 'vitest'
import { MAX_VIEWS, readViews, withoutView, withView } from './saved-views.ts'

const view = (name: string, model = 'acme/swift') => ({ name, filters: { model } })

test('readViews keeps valid filters and drops what it cannot read', () => {
  const stored = [view('Mine'), { name: 'Old', filters: { state: 'Gone', key: 'key_1' } }, { filters: {} }, null, 'x']
  expect(readViews(JSON.stringify(stored))).toEqual([view('Mine'), { name: 'Old', filters: { key: 'key_1' } }])
  for (const text of [null, '{', '{}', '3']) expect(readViews(text)).toEqual([])
})

test('a view replaces the one of the same name, and the oldest gives way to the newest', () => {
  expect(withView([view('A'), view('B')], view('A', 'acme/sage'))).toEqual([view('B'), view('A', 'acme/sage')])
  const many = Array.from({ length: MAX_VIEWS }, (_, n) => view(String(n)))
  expect(withView(many, view('new')).map(({ name }) => name)).toEqual([...many.slice(1).map(({ name }) => name), 'new'])
  expect(withoutView([view('A'), view('B')], 'A')).toEqual([view('B')])
})
