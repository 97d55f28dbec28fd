/** Before every test file: whatever its services say is looked at, and at its end none of it may have been a secret. */
import { afterAll } from 'vitest'
import { expectNoLeaks, watchServers } from './canary.ts'

watchServers()
afterAll(expectNoLeaks)
