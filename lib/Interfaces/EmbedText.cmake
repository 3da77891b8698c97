# Writes the text of INPUT as a C++ raw string literal into OUTPUT:
#   cmake -DINPUT=file -DOUTPUT=file.inc -P EmbedText.cmake
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "R\"remat(${text})remat\"\n")
