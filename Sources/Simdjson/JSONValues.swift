public import CSimdjson

extension csj_element {
  /// The UTF-8 of a string; nil for anything else.
  @inlinable public var utf8: UnsafeRawBufferPointer? {
    guard kind == CSJ_STRING else { return nil }
    var count = 0
    let text = csj_string(self, &count)
    return UnsafeRawBufferPointer(start: text, count: count)
  }

  /// A number of any kind as a double; nil for anything else.
  @inlinable public var number: Double? {
    switch kind {
    case CSJ_DOUBLE: csj_double(self)
    case CSJ_INT64: Double(csj_int64(self))
    case CSJ_UINT64: Double(csj_uint64(self))
    default: nil
    }
  }

  /// The members of an object; none for anything else.
  @inlinable public var members: JSONMembers { JSONMembers(cursor: csj_object_begin(self)) }

  /// The elements of an array; none for anything else.
  @inlinable public var array: JSONElements { JSONElements(cursor: csj_array_begin(self)) }
}

extension csj_member {
  /// The name, which may contain NUL.
  @inlinable public var name: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: key, count: key_count)
  }

  /// Whether the member has this name.
  @inlinable public func isNamed(_ text: StaticString) -> Bool {
    key_count == text.utf8CodeUnitCount
      && UnsafeRawBufferPointer(start: text.utf8Start, count: key_count).elementsEqual(name)
  }
}

/// The members of an object, in the order written.
public struct JSONMembers: Sequence, IteratorProtocol {
  @usableFromInline var cursor: csj_cursor

  @inlinable init(cursor: csj_cursor) { self.cursor = cursor }

  /// The next member; nil after the last.
  @inlinable public mutating func next() -> csj_member? {
    var member = csj_member()
    return csj_object_next(&cursor, &member) ? member : nil
  }
}

/// The elements of an array, in the order written.
public struct JSONElements: Sequence, IteratorProtocol {
  @usableFromInline var cursor: csj_cursor

  @inlinable init(cursor: csj_cursor) { self.cursor = cursor }

  /// The next element; nil after the last.
  @inlinable public mutating func next() -> csj_element? {
    var element = csj_element()
    return csj_array_next(&cursor, &element) ? element : nil
  }
}
