/** `npm ci` takes the lockfile on every platform: it names all optional packages, and no place to fetch from. */
import { expect, it } from 'vitest'
import { missingOptionals, platformOf } from './completeLockfile.ts'
import { foreign, locked } from './lockfile.ts'

it('every optional dependency of a package has its entry; `npm run lockfile` adds it', () => {
  expect(missingOptionals().map(({ name, parent }) => `${name} of ${parent}`)).toEqual([])
})

it('holds no address to download from', () => {
  expect(foreign.filter(path => locked[path]?.resolved !== undefined)).toEqual([])
})

it('a package of one platform is for the platform in its name', () => {
  const optional = foreign.filter(path => locked[path]?.optional === true && locked[path]?.os !== undefined)
  const named = optional.filter(path => /-|\//.test(path.slice('node_modules/'.length)))
  expect(named.length).toBeGreaterThan(50)
  for (const path of named) {
    const { os, cpu } = locked[path] ?? {}
    const platform = platformOf(path)
    expect({ os: [os].flat(), cpu: [cpu].flat() }, path).toEqual({ os: platform.os, cpu: platform.cpu })
  }
})

it.each([
  ['@rolldown/binding-linux-x64-musl', { os: ['linux'], cpu: ['x64'], libc: ['musl'] }],
  ['@rolldown/binding-linux-s390x-gnu', { os: ['linux'], cpu: ['s390x'], libc: ['glibc'] }],
  ['@oxlint/binding-linux-arm-gnueabihf', { os: ['linux'], cpu: ['arm'] }],
  ['@oxlint/binding-win32-ia32-msvc', { os: ['win32'], cpu: ['ia32'] }],
  ['@foundry-rs/anvil-darwin-amd64', { os: ['darwin'], cpu: ['x64'] }],
  ['@biomejs/cli-android-arm64', { os: ['android'], cpu: ['arm64'] }],
])('%s', (name, platform) => {
  expect(platformOf(name)).toEqual(platform)
})

it('for a name without a platform says what to do', () => {
  expect(() => platformOf('pg-native')).toThrow('add its entry by hand')
})
