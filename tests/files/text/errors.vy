// test: parse-error
//
// What people get wrong, and where the error points.

// case: a missing operand
program workgroup(1, 1, 1)
let x = 1u32 +  //~ T002
let y = 2u32
// expect:
error[T002]: expected an expression, found the end of the line
  --> <text>:2:15
  2 | let x = 1u32 +
    |               ^
  fix: write an expression here

// case: a missing bracket
program workgroup(1, 1, 1)
let x = (1u32 + 2u32  //~ T002
let y = 2u32

// case: a missing brace
program workgroup(1, 1, 1)
if true {  //~ T011
    return

// case: a misspelled statement
program workgroup(1, 1, 1)
retrun  //~ T016
// expect:
error[T016]: no statement starts with `retrun`
  --> <text>:2:1
  2 | retrun
    | ^^^^^^
  fix: start with let, a variable, a buffer, if, for, while or another statement; did you mean return?

// case: a number without a type
program workgroup(1, 1, 1)
let x = 1.5  //~ T005

// case: a number that does not fit
program workgroup(1, 1, 1)
let x = 256u8  //~ T006
// expect:
error[T006]: `256u8` cannot be read as a number
  --> <text>:2:9
  2 | let x = 256u8
    |         ^^^^^
  fix: use a value from 0 to 255, or a wider type

// case: an unknown type
program workgroup(1, 1, 1)
buffer a: read_only int[] @0  //~ T007

// case: C operators
program workgroup(1, 1, 1)
x += 1u32  //~ T016

// case: text in single quotes
program workgroup(1, 1, 1)
trap 'no'  //~ T001

// case: a declaration after the first statement
program workgroup(1, 1, 1)
let x = 1u32
buffer a: read_only u32[] @0  //~ T002
